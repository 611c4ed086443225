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
    'Every request and notification of the protocol, and the revisions that have it (●). At other revisions it is an unknown method.',
    '## Requests from a client',
    methodTable((row) => row.kind === 'request' && row.from === 'client'),
    '## Requests from a server',
    'At 2026-07-28, a server sends no requests: a result that asks for input carries these three, and the repeated request carries their answers.',
    methodTable((row) => row.kind === 'request' && row.from === 'server'),
    '## Requests from either side',
    methodTable((row) => row.kind === 'request' && row.from === 'both'),
    '## Notifications',
    methodTable((row) => row.kind === 'notification'),
    '## Extensions',
    'The package adds these at every revision, for servers and clients that declare them ([extensions](../guides/extensions.md)).',
    extensionTable(),
    '## Notes',
    [
      '- **Capability**: the [capability](capabilities.md) that the receiver of a request, or the sender of a notification, must have declared.',
      '- **Paged**: the result has one page of the named list and, unless it is the last, `nextCursor`.',
      '- **Cached**: at 2026-07-28, the result has `ttlMs` and `cacheScope`.',
      '- **Rounds**: at 2026-07-28, the handler may ask the client for input before it answers.',
      '- **Header**: at 2026-07-28, the `Mcp-Name` header repeats this param.',
    ].join('\n'),
  )
}

function extensionTable(): string {
  return table(
    ['Name', 'Id', 'Method', 'What it does'],
    Object.entries(EXTENSIONS).flatMap(([name, { id, about, methods, notices }]) => {
      const requests = Object.entries(methods).map(([one, shape]) => [`${id}/${one}`, shape.about ?? ''])
      const notifications = notices.map((one) => [`notifications/${id}/${one}`, 'Notification.'])
      const rows = [...requests, ...notifications]
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
