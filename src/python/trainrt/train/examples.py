"""Replaces Ray Train's package of example programs: an import of it raises ImportError with advice."""

raise ImportError("trainrt does not contain Ray Train's examples: copy the file of the example next to the script, replace the word ray in it with "
                  "trainrt, and import its functions from the copy")
