"""Wordings of questions that no single relation has."""

from __future__ import annotations

FOR_WHICH = (
    "For which {kinds} is {phrase} {value}?",
    "List all {kinds} where {phrase} is {value}.",
    "Name every one of the {kinds} for which {phrase} is {value}.",
    "I need a complete list of {kinds}: those where {phrase} is {value}.",
    "Give me all the {kinds} with {value} as {phrase}.",
)
HISTORIES = (
    "How have all the rules on {of} changed, year by year?",
    "Trace every rule on {of} from the first edition to the latest.",
    "What changed in each edition of the policy on {of}?",
    "Give the full history of the provisions on {of}.",
    "Everything that was ever altered about {of}, edition by edition.",
    "Which values applied in which year for {of}? I need all of them.",
)
PORTRAITS = (
    "Compare {names} in every respect.",
    "How do the {kinds} {names} differ, point by point?",
    "Put {names} side by side, with everything that is known of each.",
    "I need a full comparison of the {kinds} {names}.",
    "Draw up a table of all that we have on {names}.",
)
STEP_BY_STEP = (
    "What are the steps for {of}?",
    "How does {of} work, step by step?",
    "I have never done this before: {of}. What do I do, and in which order?",
    "{of} steps in order",
    "Walk me through {of}.",
    "What is the order of work for {of}?",
)
