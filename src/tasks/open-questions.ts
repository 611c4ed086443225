import { soon } from '../base/soon.ts'
import { weigh } from '../base/weight.ts'
import { AttemptState } from './attempt-state.ts'
import type { TaskHead, TaskState } from './record.ts'
import type { TaskRunner } from './runner.ts'
import type { Soon } from './store.ts'

type Questions = TaskState['questions']

/** The memory of questions that are remembered, with 512 bytes for each task. */
const MOST_BYTES = 16_777_216
const OVERHEAD = 512

interface Known {
  readonly version: number
  readonly questions: Questions
  readonly bytes: number
}

/**
 * The open questions of tasks. Polls ask for them again and again, and the state of a task may be large: it is read once for each
 * version of a task that another node runs, and never for one that runs here.
 */
export class OpenQuestions {
  readonly #tasks: TaskRunner
  readonly #known = new Map<string, Known>()
  #bytes = 0

  constructor(tasks: TaskRunner) {
    this.#tasks = tasks
  }

  /** The open questions of a task; undefined if it is gone. */
  of(head: TaskHead): Soon<Questions | undefined> {
    const { id, version } = head
    const run = this.#tasks.runs.get(id)
    if (run !== undefined) return run.shared.questions
    const known = this.#known.get(id)
    if (known?.version === version) return known.questions
    return soon(this.#tasks.reads.of(head, 'state'), (found) => {
      if (found === undefined) {
        this.#drop(id)
        return undefined
      }
      const now = this.#known.get(id)
      if (now !== undefined && now.version >= found.head.version) return now.questions
      const { questions } = AttemptState.of(found.text)
      this.know(found.head, questions)
      return questions
    })
  }

  /** Remembers the open questions of a task at a version. */
  know({ id, version }: TaskHead, questions: Questions): void {
    this.#drop(id)
    this.#keep(id, { version, questions, bytes: OVERHEAD + weigh(questions) })
  }

  #keep(id: string, known: Known): void {
    this.#known.set(id, known)
    this.#bytes += known.bytes
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= MOST_BYTES) return
      this.#drop(oldest)
    }
  }

  #drop(id: string): void {
    this.#bytes -= this.#known.get(id)?.bytes ?? 0
    this.#known.delete(id)
  }
}
