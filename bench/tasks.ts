import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommands } from './commands.ts'
import { type Extent, startRound } from './extent.ts'
import { INITIALIZED, initializeText } from './messages.ts'

/** The commands of the process that runs servers with tasks and their clients. */
export interface TaskCommands {
  /** Opens a server under a name, with so many finished tasks; one of the same name is closed first. */
  readonly open: {
    readonly name: string
    readonly subject: string
    /** The URL of a Redis, or where else tasks are. */
    readonly store: 'memory' | 'sqlite' | `redis:${string}`
    readonly held: number
  }
  /** Calls as tasks, each until its result, or polls of the tasks that are there. */
  readonly run: { readonly name: string; readonly work: 'call' | 'poll'; readonly extent: Extent }
}

/** One round of tasks. */
export interface TaskRound {
  readonly count: number
  readonly seconds: number
}

interface ServerEnd {
  send(text: string): unknown
  close(): unknown
}

interface SubjectModule {
  connect(receive: (text: string) => void, path?: string): ServerEnd | Promise<ServerEnd>
}

interface Answer {
  readonly id?: number
  readonly error?: unknown
  readonly result?: {
    readonly status?: string
    readonly task?: { readonly taskId: string }
    readonly content?: readonly { readonly text: string }[]
  }
}

const WINDOW = 64
/** Long enough for every round. */
const TTL_MS = 600_000

const folder = mkdtempSync(join(tmpdir(), 'pierhead-bench-tasks-'))
const clients = new Map<string, TaskClient>()
let files = 0

runCommands<TaskCommands>({
  async open({ name, subject, store, held }) {
    await clients.get(name)?.close()
    const module = (await import(subject)) as SubjectModule
    const client = new TaskClient()
    await client.open(module, placeOf(store))
    await client.run('call', { calls: held })
    clients.set(name, client)
    return {}
  },
  run({ name, work, extent }): Promise<TaskRound> {
    const client = clients.get(name)
    if (client === undefined) throw new Error(`${name} was not opened`)
    return client.run(work, extent)
  },
})

/** A new place in a store: a file, or the URL of a Redis and a prefix. */
function placeOf(store: TaskCommands['open']['store']): string | undefined {
  if (store === 'memory') return undefined
  files++
  return store === 'sqlite' ? join(folder, `${files}.db`) : `${store}#bench${files}`
}

process.on('disconnect', () => {
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
})

/** A client of one server in this process. */
class TaskClient {
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  readonly #tasks: string[] = []
  #end: ServerEnd | undefined
  #next = 0

  async open(module: SubjectModule, path: string | undefined): Promise<void> {
    this.#end = await module.connect((text) => this.#take(text), path)
    await this.#ask((id) => initializeText(id))
    await this.#end.send(INITIALIZED)
  }

  /** Keeps a window of tasks, or of polls, under way. */
  async run(work: 'call' | 'poll', extent: Extent): Promise<TaskRound> {
    const start = performance.now()
    const isOver = startRound(extent)
    let count = 0
    const worker = async (): Promise<void> => {
      while (!isOver(count)) {
        count++
        await (work === 'call' ? this.#call() : this.#poll())
      }
    }
    await Promise.all(Array.from({ length: WINDOW }, worker))
    return { count, seconds: (performance.now() - start) / 1000 }
  }

  async close(): Promise<void> {
    await this.#end?.close()
  }

  async #call(): Promise<void> {
    const a = this.#next
    const params = { name: 'add', arguments: { a, b: 1 }, task: { ttl: TTL_MS } }
    const { task } = await this.#request('tools/call', params)
    if (task === undefined) throw new Error('a call did not become a task')
    const { content } = await this.#request('tasks/result', { taskId: task.taskId })
    if (content?.[0]?.text !== String(a + 1)) throw new Error('a task has a wrong result')
    this.#tasks.push(task.taskId)
  }

  async #poll(): Promise<void> {
    // All in turn, so that no cache has just those that are polled.
    const place = this.#next % this.#tasks.length
    const { status } = await this.#request('tasks/get', { taskId: this.#tasks[place] })
    if (status !== 'completed') throw new Error(`a finished task is ${status}`)
  }

  async #request(method: string, params: object): Promise<NonNullable<Answer['result']>> {
    const answer = await this.#ask((id) => JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    if (answer.result === undefined) throw new Error(`${method} failed: ${JSON.stringify(answer.error)}`)
    return answer.result
  }

  #ask(textOf: (id: number) => string): Promise<Answer> {
    const id = ++this.#next
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      void this.#end?.send(textOf(id))
    })
  }

  #take(text: string): void {
    const answer = JSON.parse(text) as Answer
    if (answer.id === undefined) return
    this.#waiting.get(answer.id)?.(answer)
    this.#waiting.delete(answer.id)
  }
}
