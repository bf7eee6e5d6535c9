"""The fakes of the packages of trackers append each call, as a line of JSON, to the file CALLS."""
import json
import os


def add(tracker, call, *arguments, **options):
    with open(os.environ["CALLS"], "a") as file:
        file.write(json.dumps([tracker, call, arguments, options]) + "\n")
