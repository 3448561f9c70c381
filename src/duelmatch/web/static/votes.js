// The list of votes: after a change it is read anew.
import { element } from "/static/api.js";
import { listen } from "/static/doing.js";

const votes = element("votes");
listen(votes, `/studies/${votes.dataset.study}`, () => location.reload());
