"""Values: requests, answers, errors and settings. Imports no other package of the project."""
