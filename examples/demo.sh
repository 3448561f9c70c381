#!/bin/sh
# What duelmatch does, on a bundled example. Usage: demo.sh FOLDER-FOR-THE-PICTURES
set -eu
folder=${1:-build/demo}
mkdir -p "$folder"

say() {
  printf '\n'
  printf '# %s\n' "$@"
}
run() {
  printf '\n$ duelmatch %s\n\n' "$*"
  duelmatch "$@"
}

say "A small festival: five bands, three slots, and not every band can play every slot."
run check example:lineup

say "If we knew how often each band is preferred for each slot, which line-up is best?" \
  "The foxes are the favourites for sunset and for headline, and can play only one."
run winners example:lineup --plot "$folder/lineup.png"

say "We do not know that: we ask people 'who is better for this slot?', duel by duel." \
  "How many duels does that take?"
run plan example:lineup --criterion condorcet

say "So let us ask, with simulated voters: duel by duel until the winner is certain enough, twenty times over." \
  "It never sees the probabilities, and may be wrong in at most one run in twenty."
run simulate example:lineup --runs 20

say "'Best' can mean two things, and here they differ: the best on average (Borda), and the one that" \
  "beats every other (Condorcet)."
run winners example:prizes --plot "$folder/prizes.png"

say "Look at the pictures:" "  $(cd "$folder" && pwd)/lineup.png" "  $(cd "$folder" && pwd)/prizes.png" \
  "Then answer duels yourself with 'duelmatch ask example:lineup', try 'duelmatch --help', or start a file of your own: duelmatch examples lineup > mine.yaml"
