import { CHOICES, type ChoiceRow } from '../../src/protocol/choices.ts'
import { code, page, table } from './markdown.ts'

/** The page about switches: what a revision decides, and what a profile may choose. */
export function switchesPage(): string {
  return page(
    'Switches',
    'Where the protocol may be spoken in more than one way, one switch says how. Each is read in one file, and each value has a recorded exchange under `test/transcripts/`.',
    '## What a profile may choose',
    'The first value is the official one, and what is done without a profile; `by-revision` leaves it to the revision. Chosen with `official.with({ … })` or `erlmcp.with({ … })` of `pierhead/profiles`. What changes the form of messages holds at the revisions with a handshake, the rest at all of them.',
    table(
      ['Switch', 'Values', 'In `erlmcp`', 'Holds', 'What is chosen'],
      Object.entries<ChoiceRow>(CHOICES).map(([name, { values, erlmcp, reader, about }]) => [
        code(name),
        values.map((value) => code(String(value))).join(', '),
        code(String(erlmcp)),
        reader.startsWith('profiles/erlmcp/') ? 'up to 2025-11-25' : 'always',
        about,
      ]),
    ),
    '## What a revision decides',
    'These are listed with the [revisions](revisions.md#switches).',
  )
}
