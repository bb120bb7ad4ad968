"""The command line: a table and prices in, decisions and their bill in money out.

main        arguments -> an exit code: 0, 1 wrong input, 2 wrong usage, 130 interrupted
app         the commands by name; imports nothing that takes time
making      the options of commands that train
asking      the options of commands that ask a model
options     options that commands share
screen      what is shown: text, tables, bars, JSON
money       numbers as on a bill
reading     files of all kinds -> a table
columns     which columns are features, and of which kind
labels      what was typed -> labels of the target
prices      options and costs.toml -> `Costs`
recipe      what a model file remembers of all that
rows        a table meets a recipe: features, truth, prices, groups
splitting   which rows are held out, and folds
methods     names -> estimators
bill        what policies cost, with intervals
words       bills and findings -> lines on the screen
doubts      what speaks against believing them
writing     results -> files, whole or not at all

Every other module is the command of its name.
"""
