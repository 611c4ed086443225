import { CHOICES, type ChoiceRow } from '../../src/protocol/choices.ts'
import { code, page, table } from './markdown.ts'

/** The page about switches: the choices of a profile, and the behaviours that depend on the revision. */
export function switchesPage(): string {
  return page(
    'Switches',
    'A switch selects between several ways to speak the protocol. Each is read in one file, and each value has a recorded exchange under `test/transcripts/`.',
    '## Choices of a profile',
    'The first value is official and applies without a profile; `by-revision` leaves it to the revision. Choose others with `official.with({ … })` or `erlmcp.with({ … })` from `pierhead/profiles`. Choices that change the form of messages apply at the revisions with a handshake, the rest at all of them.',
    table(
      ['Switch', 'Values', 'In `erlmcp`', 'Applies', 'Meaning'],
      Object.entries<ChoiceRow>(CHOICES).map(([name, { values, erlmcp, reader, about }]) => [
        code(name),
        values.map((value) => code(String(value))).join(', '),
        code(String(erlmcp)),
        reader.startsWith('profiles/erlmcp/') ? 'up to 2025-11-25' : 'always',
        about,
      ]),
    ),
    '## Differences between revisions',
    'See [revisions](revisions.md#switches).',
  )
}
