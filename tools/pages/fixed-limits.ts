import { readFileSync } from 'node:fs'
import { table } from './markdown.ts'

interface FixedLimit {
  /** The constant and the file that has it. */
  readonly constant: string
  readonly file: string
  readonly meaning: string
  readonly outcome: string
}

/** Limits that users meet and cannot set. */
// oxfmt-ignore
const FIXED: readonly FixedLimit[] = [
  { constant: 'MAX_SUBSCRIPTIONS', file: 'server/subscriptions.ts', meaning: 'Resources that one session or `subscriptions/listen` stream watches.', outcome: 'The subscription is rejected.' },
  { constant: 'MAX_RESOURCES', file: 'client/watched.ts', meaning: 'Resources that `watch` names for one server; for a group, this many times the number of its servers.', outcome: '`bad_option`; of a group, a server with more is left out, and there is a warning.' },
  { constant: 'MAX_SOURCE',        file: 'schema/pattern.ts',       meaning: 'Characters of a `pattern` in a JSON Schema.',                          outcome: '`bad_definition` in a server; a client does not check the output.' },
  { constant: 'MIN_LENGTH',        file: 'schema/pattern.ts',       meaning: 'Characters of a string that every accepted `pattern` can match quickly.', outcome: 'Slower patterns are rejected; longer strings may be.' },
  { constant: 'LARGE',             file: 'schema/pieces.ts',        meaning: 'Parts of a received value that a schema library checks at once.',       outcome: 'A larger value is checked in pieces first, and rejected if they have more problems than this.' },
  { constant: 'MOST_STEPS',        file: 'schema/cost.ts',          meaning: 'Estimated steps of a schema library for one value: parts, times members and alternatives of the schema.', outcome: 'The value is rejected.' },
  { constant: 'MOST_ADDED',        file: 'schema/cost.ts',          meaning: 'Bytes of memory that defaults may add to one value.',                   outcome: 'The value is rejected.' },
  { constant: 'MAX_LENGTH',        file: 'uri-template/parse.ts',   meaning: 'Characters of a URI template.',                                         outcome: '`bad_definition`' },
  { constant: 'MAX_VARIABLES',     file: 'uri-template/parse.ts',   meaning: 'Variables of a URI template.',                                          outcome: '`bad_definition`' },
  { constant: 'MAX_URI_LENGTH',    file: 'uri-template/match.ts',   meaning: 'Characters of a URI that a template matches.',                          outcome: 'The resource does not exist.' },
  { constant: 'MAX_STEPS',         file: 'server/resources.ts',     meaning: 'Steps that one request takes to find the resources of its URIs: 400,000, and 200 for each of their characters, but no more than this.', outcome: '`uri_too_costly`' },
  { constant: 'MAX_CHARS',         file: 'server/spellings.ts',     meaning: 'Characters of all URIs of one `subscriptions/listen`. A `%`, and each that is not ASCII, counts nine times.', outcome: '`uri_too_costly`' },
  { constant: 'MAX_VALUES',        file: 'server/completion.ts',    meaning: 'Values of one completion.',                                             outcome: 'The others are left out, and `hasMore` is true.' },
  { constant: 'MAX_INTRODUCTION',  file: 'server/introduction.ts',  meaning: 'Bytes of memory that the name and capabilities of a client take.',      outcome: '`bad_params`' },
  { constant: 'KEPT_INTRODUCTION', file: 'server/introduction.ts',  meaning: 'Bytes of memory that a session keeps of them.',                         outcome: 'The largest parts are left out.' },
  { constant: 'MAX_BYTES',         file: 'client/question-room.ts', meaning: 'Bytes of memory that open questions of a server, and replies that it does not take, occupy in a client.', outcome: 'Further questions are ignored, and further replies are not sent.' },
  { constant: 'MAX_LENGTH',        file: 'client/elicitations.ts',  meaning: 'Characters of an `elicitationId`.',                                     outcome: 'The client does not report that the user has finished.' },
  { constant: 'MAX_URL',           file: 'protocol/web-url.ts',     meaning: 'Characters of a URL that a server asks the user to open.',              outcome: '`bad_params` for the server; the user is not asked.' },
  { constant: 'MAX_ITEMS',         file: 'client/lists.ts',         meaning: 'Items of one list of a server: tools, resources, templates or prompts.', outcome: '`answer_too_large`' },
  { constant: 'MAX_WEIGHT',        file: 'client/lists.ts',         meaning: 'Bytes of memory, estimated, that all lists of a server take together in a client, each as it was last read.', outcome: '`answer_too_large`; the other lists can still be read.' },
  { constant: 'MAX_MEMBERS',       file: 'client/lists.ts',         meaning: 'Members of one listed tool, prompt, resource or template.',             outcome: 'The item is left out, and there is a warning.' },
  { constant: 'MAX_MEMBERS',       file: 'protocol/jsonrpc.ts',     meaning: 'Members of a message itself, of its params, of a result, of `inputResponses`, and of the `_meta` of params and results. Arguments and structured content do not count.', outcome: '`bad_message` for a message, `bad_params` for params, `bad_answer` for a result.' },
  { constant: 'MAX_ROUNDS',        file: 'client/rounds.ts',        meaning: 'Rounds of one request at 2026-07-28 that a client answers.',            outcome: 'The call fails.' },
  { constant: 'MOST_BYTES',        file: 'store/events-memory.ts',  meaning: 'Bytes that all streams take together which a process keeps in memory for its workers, or for several servers.', outcome: 'The largest ones lose their events, from the oldest; clients that missed them get `unknown_event`, or 204.' },
]

export function fixedLimits(): string {
  return table(
    ['Limit', 'Meaning', 'Beyond it'],
    FIXED.map(({ constant, file, meaning, outcome }) => [
      valueOf(constant, file).toLocaleString('en'),
      meaning,
      outcome,
    ]),
  )
}

/** The value of a constant, read from its source, so that the page cannot differ from it. */
function valueOf(constant: string, file: string): number {
  const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8')
  const [, digits] = new RegExp(`const ${constant} = ([\\d_]+)\\n`).exec(source) ?? []
  if (digits === undefined) throw new Error(`${file} has no number ${constant}`)
  return Number(digits.replaceAll('_', ''))
}
