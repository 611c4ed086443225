import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { REVISIONS } from '../../../src/protocol/revisions.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { REQUESTS } from '../requests.ts'
import { readReply } from '../replies.ts'
import { messageBytes } from '../seeds.ts'

let child: Child

/** Whatever bytes a line has, what comes back is messages, and the next request is answered. */
export const stdioTarget: Target = target<Uint8Array>({
  name: 'stdio',
  share: 0.6,
  async start() {
    child = new Child()
    await child.ask()
  },
  make: (random) => messageBytes(random, REQUESTS.get(random.pick(REVISIONS))),
  async check(bytes) {
    child.write(bytes)
    await child.ask()
    claim(!child.complaints.includes('FAULT'), `a fault in the server: ${child.complaints}`)
  },
  async end() {
    await child.end()
  },
})

class Child {
  complaints = ''
  readonly #process: ChildProcessWithoutNullStreams
  readonly #exited: Promise<unknown>
  #rest = ''
  #asked = 0
  #answered: () => void = () => undefined
  #failed: (error: Error) => void = () => undefined

  constructor() {
    const file = fileURLToPath(new URL('../child.ts', import.meta.url))
    this.#process = spawn(process.execPath, ['--conditions=pierhead-source', '--import', 'tsx', file])
    this.#process.stdin.on('error', () => undefined)
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => this.#read(text))
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => void (this.complaints += text))
    this.#exited = new Promise((resolve) => this.#process.once('close', resolve))
    void this.#exited.then(() =>
      this.#failed(new Error(`the server is gone: ${this.complaints.slice(-500)}`)),
    )
  }

  write(bytes: Uint8Array): void {
    this.#process.stdin.write(bytes)
  }

  /** Resolves when the server has answered everything up to now. */
  ask(): Promise<void> {
    const id = ++this.#asked
    return new Promise((resolve, reject) => {
      this.#answered = resolve
      this.#failed = reject
      this.#process.stdin.write(`\n{"jsonrpc":"2.0","id":"ask ${id}","method":"ping"}\n`)
    })
  }

  async end(): Promise<void> {
    this.#failed = () => undefined
    this.#process.stdin.end()
    await this.#exited
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() as string
    for (const line of lines) {
      try {
        for (const { id } of readReply(line)) if (id === `ask ${this.#asked}`) this.#answered()
      } catch (thrown) {
        this.#failed(thrown as Error)
      }
    }
  }
}
