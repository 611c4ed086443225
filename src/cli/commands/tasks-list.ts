import { nearest } from '../../base/nearest.ts'
import type { Command, Invocation } from '../command.ts'
import { EXIT } from '../exit.ts'
import { Failure, wrongAnswer } from '../failure.ts'
import { countOf } from '../option-values.ts'
import { safeLine } from '../safe-text.ts'
import { STORE_OPTIONS, withTaskStore } from '../task-store.ts'
import { remoteRow, rowsText, storedRow, type TaskRow } from '../task-text.ts'

const STATES = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const

export const tasksList: Command = {
  name: 'tasks list',
  group: 'Use a server',
  summary: 'list long-running work',
  details:
    'A server lists the tasks of the caller at revision 2025-11-25, which is used here: 2026-07-28 has no list. ' +
    'Operators see the tasks of all callers in the store of the server: --store and --name.',
  hasTarget: true,
  insteadOfTarget: 'store',
  options: [
    { flags: '--status <status>', summary: 'only tasks with this status', choices: STATES },
    { flags: '--limit <number>', summary: 'the most tasks to list (100)' },
    ...STORE_OPTIONS,
  ],
  examples: [
    ['tasks list http://localhost:3000/mcp', 'lists your tasks at a server'],
    [
      'tasks list --store sqlite:films.db --name films --status failed',
      'lists those of all callers that failed',
    ],
  ],
  async run(invocation) {
    const { flags, output } = invocation
    const limit = countOf(flags, 'limit', 10_000) ?? 100
    const status = flags.text('status') as (typeof STATES)[number] | undefined
    const stored = await withTaskStore(invocation, async (tasks, names) => {
      const heads = await tasks.list({ limit, ...(status !== undefined && { status }) })
      if (heads.length === 0) warnName(flags.text('name') ?? '', await names(), output)
      return heads.map(storedRow)
    })
    const tasks = stored ?? (await remoteTasks(invocation, limit, status))
    await output.data({ tasks }, () => rowsText(tasks))
    if (tasks.length === 0 && stored === undefined)
      output.note(
        'A server lists your own tasks only. One without logins cannot tell callers apart, and lists none to a new connection.',
      )
  },
}

/** Says so if a store has tasks of other servers only. */
function warnName(name: string, names: readonly string[], output: Invocation['output']): void {
  if (names.length === 0 || names.includes(name)) return
  const similar = nearest(name, names)
  const known = safeLine(names.slice(0, 30).join(', '), 500)
  output.warn(
    `the store has no tasks of a server named "${safeLine(name)}", only of ${known}${similar === undefined ? '' : `; did you mean "${safeLine(similar)}"?`}`,
  )
}

/** The only revision with a list of tasks. */
const LISTS = '2025-11-25'

/** The tasks of the caller at a server. */
async function remoteTasks(
  { open, flags }: Invocation,
  limit: number,
  status: string | undefined,
): Promise<readonly TaskRow[]> {
  const { client } = await open({ revision: LISTS }).catch((error: unknown) => {
    const { kind = '' } = error as { readonly kind?: string }
    throw flags.text('revision') === undefined && NOT_OFFERED.includes(kind)
      ? noList(`the server does not offer ${LISTS}, the only revision with a list of tasks`, error)
      : error
  })
  const { revision, capabilities } = await client.server()
  const { list } = (capabilities['tasks'] ?? {}) as { readonly list?: unknown }
  if (list === undefined)
    throw noList(
      revision === LISTS
        ? 'the server does not list tasks'
        : `revision ${revision} has no list of tasks; leave out --revision`,
    )
  const found: TaskRow[] = []
  const seen = new Set<unknown>()
  let cursor: unknown
  do {
    const page = await client.request('tasks/list', cursor === undefined ? {} : { cursor: cursor as string })
    if (!Array.isArray(page['tasks'])) throw wrongAnswer('it has no list of tasks')
    const tasks = page['tasks'].map(remoteRow)
    found.push(...tasks.filter((task) => status === undefined || task.status === status))
    cursor = page['nextCursor']
    if (seen.has(cursor)) break
    seen.add(cursor)
  } while (typeof cursor === 'string' && found.length < limit && seen.size < 1000)
  return found.slice(0, limit)
}

/** Kinds of errors of servers that do not offer the only revision that was asked for. */
const NOT_OFFERED: readonly string[] = ['revision_unsupported', 'version_rejected', 'no_revision']

function noList(problem: string, cause?: unknown): Failure {
  return new Failure(problem, {
    exit: EXIT.server,
    hint: 'Show a task by its id with pierhead tasks show, or list the store of the server with --store and --name.',
    cause,
  })
}
