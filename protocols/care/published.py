"""The numbers of the published study, which are the defaults here."""

YEAR = 2020
MIN_COMMENTS = 10
MOST_KEYPHRASES = 10
MOST_REACTIONS = 5
MIN_POSTS_PER_MONTH = 2
MIN_MONTHS = 9
MOST_SHARING = 300
MOST_SALIENT = 300
