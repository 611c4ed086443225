// Every file that `build` writes contains this and calls it at its end.
import { chooseServer, type Exports } from './exported-server.ts'

/** What a built file has in place of the launcher of `run`. */
interface BuiltLauncher {
  /** Whether a server listens, or is about to. */
  readonly listens?: boolean
}

/** Lets the server of a program listen, unless the program does so itself: over HTTP if PORT is set, and over stdio otherwise. */
export async function startBuilt(program: Exports, path: string, name: string | undefined): Promise<void> {
  const launcher = (globalThis as Exports)[Symbol.for('pierhead.launcher') as never] as BuiltLauncher
  if (launcher.listens === true) return
  const choice = chooseServer(program, path, name)
  if ('server' in choice) {
    const { PORT, HOST, HOSTS } = process.env
    const http = {
      port: Number(PORT),
      ...(HOST && { host: HOST }),
      ...(HOSTS && { hosts: HOSTS.split(',') }),
    }
    const app = choice.server as { listen(options: object): Promise<unknown> }
    await app.listen(PORT ? { http } : { stdio: true })
    return
  }
  // The program may still come to it, or serve in another way.
  process.once('beforeExit', () => {
    if (launcher.listens === true) return
    console.error(`error: ${choice.problem}\nfix: ${choice.hint}`)
    process.exitCode = 1
  })
}
