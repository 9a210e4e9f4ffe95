"""SenseJudge: a judge that follows the preferences of one person, on the pairs of SenseBench."""
