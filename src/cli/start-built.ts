// Every file that `build` writes contains this, loads it before the program, and calls it after that.
import { addressProblem, AS_VARIABLES, hostsIn, IN_PROGRAM, portIn } from './address-problem.ts'
import { chooseServer, type Exports } from './exported-server.ts'

/** What a built file has in place of the launcher of `run`. */
interface BuiltLauncher {
  /** Whether a server listens, or is about to. */
  listens?: boolean
  opening?(app: object, running: Promise<{ readonly url?: string | undefined }>): void
  listen?(app: object, options: object): object
}

const LAUNCHER: unique symbol = Symbol.for('pierhead.launcher')
const holder = globalThis as { [LAUNCHER]?: BuiltLauncher }
let spelling = IN_PROGRAM

// The launcher of `run` and `dev` stays, and these show errors themselves.
if (holder[LAUNCHER] === undefined) {
  holder[LAUNCHER] = {
    listens: false,
    opening(_, running): void {
      this.listens = true
      // Whoever waits for the server hears of an error.
      running.then(showUrl, () => undefined)
    },
    listen: (_, options) => options,
  }
  process.on('uncaughtException', showError)
  process.on('newListener', leaveErrors)
}

/** Lets the server of a program listen, unless the program does so itself: over HTTP if PORT is set, and over stdio otherwise. */
export async function startBuilt(
  program: Exports,
  path: string,
  name: string | undefined,
  isClient: boolean,
): Promise<void> {
  if (holder[LAUNCHER]?.listens === true) return
  const choice = chooseServer(program, path, name)
  if ('server' in choice) {
    const app = choice.server as { listen(options: object): Promise<unknown> }
    spelling = AS_VARIABLES
    await app.listen(process.env['PORT'] ? { http: httpOf(process.env['PORT']) } : { stdio: true })
    return
  }
  if (isClient) return
  // The program may still come to it, or serve in another way.
  process.once('beforeExit', () => {
    if (holder[LAUNCHER]?.listens === true) return
    show(choice.problem, choice.hint)
    process.exitCode = 1
  })
}

let isShown = false

/** Says where the first server is, as `run` does. Of several processes, only the first says so. */
function showUrl({ url }: { readonly url?: string | undefined }): void {
  if (url === undefined || isShown || process.env['NODE_UNIQUE_ID'] !== undefined) return
  isShown = true
  console.error(`listening at ${url}`)
}

function httpOf(text: string): object {
  const { HOST, HOSTS } = process.env
  const port = portIn(text)
  if (typeof port !== 'number') {
    show(`PORT: ${port.problem}`, port.hint)
    process.exit(1)
  }
  return { port, ...(HOST && { host: HOST }), ...(HOSTS && { hosts: hostsIn(HOSTS) }) }
}

/** A program, and a server that listens, handle errors themselves. */
function leaveErrors(event: string | symbol): void {
  if (event !== 'uncaughtException') return
  process.off('uncaughtException', showError)
  process.off('newListener', leaveErrors)
}

/** Shows an error that says what to do in two lines, and leaves any other to Node. */
function showError(error: unknown): void {
  const { kind, message, hint } = (error ?? {}) as Exports
  if (typeof kind === 'string' && typeof message === 'string' && typeof hint === 'string') {
    const known = addressProblem(message, spelling)
    show(known?.problem ?? message, known?.hint ?? hint)
    process.exit(1)
  }
  process.off('uncaughtException', showError)
  queueMicrotask(() => {
    throw error
  })
}

function show(problem: string, hint: string): void {
  console.error(`error: ${problem}\nfix: ${hint}`)
}
