// The list of votes: after a change it is read again.
import { element } from "/static/api.js";
import { listen } from "/static/actions.js";

const answers = element("answers");
listen(answers, `/studies/${answers.dataset.study}`, () => location.reload());
