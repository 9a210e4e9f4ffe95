"""Reports on reactions of communities: their tones and attitudes, observed and as models simulate them, blind to the
community and informed of it."""
