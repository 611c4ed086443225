import { isMethodAt, METHODS, type MethodRow } from '../../src/protocol/methods.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { apps } from '../../src/extensions/apps.ts'
import { health } from '../../src/extensions/health.ts'
import { subscriptions } from '../../src/extensions/subscriptions.ts'
import { toolCompletion } from '../../src/extensions/tool-completion.ts'
import { toolStream } from '../../src/extensions/tool-stream.ts'
import { code, marks, page, table } from './markdown.ts'

const EXTENSIONS = { apps, health, subscriptions, toolCompletion, toolStream }

/** The page about methods. */
export function methodsPage(): string {
  return page(
    'Methods',
    'Every request and notification of the protocol, and the revisions that know it (●). A method that a revision does not know is answered there as an unknown method.',
    '## Requests of a client',
    methodTable((row) => row.kind === 'request' && row.from === 'client'),
    '## Requests of a server',
    'At 2026-07-28 a server sends no requests: these three travel inside a result that asks for input, and their answers inside the repeated request.',
    methodTable((row) => row.kind === 'request' && row.from === 'server'),
    '## Requests of either side',
    methodTable((row) => row.kind === 'request' && row.from === 'both'),
    '## Notifications',
    methodTable((row) => row.kind === 'notification'),
    '## Extensions',
    'What the package adds at every revision, for servers and clients that declare it ([extensions](../guides/extensions.md)).',
    extensionTable(),
    '## Notes',
    [
      '- **Capability**: what the receiver of a request, or the sender of a notification, must have declared ([capabilities](capabilities.md)).',
      '- **Paged**: the result carries one page of the named list and, unless it is the last, `nextCursor`.',
      '- **Cached**: at 2026-07-28 the result carries `ttlMs` and `cacheScope`.',
      '- **Rounds**: at 2026-07-28 the handler may ask the client for input before it answers.',
      '- **Header**: at 2026-07-28 the `Mcp-Name` header repeats this param.',
    ].join('\n'),
  )
}

function extensionTable(): string {
  return table(
    ['Name', 'Id', 'Method', 'What it does'],
    Object.entries(EXTENSIONS).flatMap(([name, { id, about, methods, notices }]) => {
      const asked = Object.entries(methods).map(([one, shape]) => [`${id}/${one}`, shape.about ?? ''])
      const told = notices.map((one) => [`notifications/${id}/${one}`, 'Notification.'])
      const rows = [...asked, ...told]
      return rows.length === 0
        ? [[code(name), code(id), '', about]]
        : rows.map(([method = '', does = '']) => [code(name), code(id), code(method), does])
    }),
  )
}

function methodTable(belongs: (row: MethodRow) => boolean): string {
  const rows = Object.entries<MethodRow>(METHODS).filter(([, row]) => belongs(row))
  const notes = rows.some(([, row]) => notesOf(row) !== '')
  const head = [
    'Method',
    ...(isMixed(rows) ? ['From'] : []),
    ...REVISIONS,
    'Capability',
    ...(notes ? ['Notes'] : []),
  ]
  return table(
    head,
    rows.map(([method, row]) => [
      code(method),
      ...(isMixed(rows) ? [row.from] : []),
      ...marks((revision) => isMethodAt(row, revision)),
      row.capability === undefined ? '' : code(row.capability),
      ...(notes ? [notesOf(row)] : []),
    ]),
  )
}

function isMixed(rows: readonly (readonly [string, MethodRow])[]): boolean {
  return new Set(rows.map(([, row]) => row.from)).size > 1
}

function notesOf(row: MethodRow): string {
  const notes = [
    row.list === undefined ? [] : [`paged: ${code(row.list)}`],
    row.cached === true ? ['cached'] : [],
    row.rounds === true ? ['rounds'] : [],
    row.named === undefined ? [] : [`header: ${code(row.named)}`],
  ]
  return notes.flat().join(', ')
}
