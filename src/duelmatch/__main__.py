"""``python -m duelmatch``: the command line, also where its script is not on the path."""

from duelmatch.cli import main

if __name__ == "__main__":
    main(prog_name="duelmatch")
