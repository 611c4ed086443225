import { setTimeout } from 'node:timers/promises'
import { ToolError, type CallToolResult, type Client } from 'pierhead/client'
import type { Command, Invocation } from '../command.ts'
import { EXIT } from '../exit.ts'
import { Failure, wrongAnswer } from '../failure.ts'
import { ANSWER_OPTION } from '../given-answers.ts'
import { progressLine } from '../progress-line.ts'
import { STORE_OPTIONS, withTaskStore } from '../task-store.ts'
import { unknownTask } from '../task-text.ts'
import { printResult } from '../tool-result.ts'

/** How often a store is asked. */
const POLL_MS = 500

export const tasksWait: Command = {
  name: 'tasks wait',
  group: 'Use a server',
  summary: 'follow a task until it ends, and print its result as call does',
  details:
    'Shows its progress, and answers its questions as call does. Ctrl-C and --total only end the wait; the task goes on. A failed tool ends with exit code 5.',
  hasTarget: true,
  insteadOfTarget: 'store',
  arguments: [{ name: 'id', summary: 'the id of the task' }],
  options: [
    ANSWER_OPTION,
    { flags: '--save <folder>', summary: 'save images, sounds and other bytes there' },
    ...STORE_OPTIONS,
  ],
  examples: [
    ['tasks wait http://localhost:3000/mcp 0198…', 'waits for one of your tasks'],
    ['tasks wait 0198… --store sqlite:films.db --name films', 'waits for a task of any caller'],
  ],
  async run(invocation) {
    const { words, open } = invocation
    const [id = ''] = words
    const stored = await withTaskStore(invocation, (tasks) => storedResult(tasks, id, invocation))
    if (stored !== undefined) return printResult(stored, invocation)
    const opened = await open()
    const result = await remoteResult(opened.client, id, invocation)
    if (result.isError === true && opened.answers?.problem !== undefined) throw opened.answers.problem
    return printResult(result, invocation, { opened })
  },
}

/** Waits for a task at a server, and returns all of its result. */
async function remoteResult(client: Client, id: string, { io, output }: Invocation): Promise<CallToolResult> {
  const task = await client.resume(id)
  const onProgress = progressLine(output, io)
  if (onProgress !== undefined)
    for await (const one of task.progress()) onProgress({ ...one, progress: one.progress ?? Number.NaN })
  try {
    await task.result({ signal: io.signal })
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
  }
  // The handle returns what the tool returned, and call prints what the server sent.
  const { revision } = await client.server()
  const isLatest = revision >= '2026'
  const sent = await client.request(isLatest ? 'tasks/get' : 'tasks/result', { taskId: id })
  const result = (isLatest ? sent['result'] : sent) as CallToolResult | undefined
  if (!Array.isArray(result?.content)) throw wrongAnswer('the task has no result')
  return result
}

type Tasks = Parameters<Parameters<typeof withTaskStore>[1]>[0]

/** Waits for a task in a store. */
async function storedResult(tasks: Tasks, id: string, { io, output }: Invocation): Promise<CallToolResult> {
  const onProgress = progressLine(output, io)
  for (;;) {
    const task = await tasks.show(id)
    if (task === undefined) throw unknownTask(id)
    const { status, statusMessage, outcome } = task
    if (status === 'cancelled') throw new Failure('the task was cancelled', { exit: EXIT.server })
    if (outcome !== undefined) return resultIn(outcome)
    onProgress?.({ progress: Number.NaN, message: statusMessage })
    await setTimeout(POLL_MS, undefined, { signal: io.signal })
  }
}

function resultIn({ result, error }: Readonly<Record<string, unknown>>): CallToolResult {
  if (Array.isArray((result as CallToolResult | undefined)?.content)) return result as CallToolResult
  const { message } = (error ?? {}) as { readonly message?: unknown }
  throw new Failure(typeof message === 'string' ? message : 'the task has no result', { exit: EXIT.server })
}
