import type { ListenOptions } from 'pierhead'
import type { Command, Flags } from '../command.ts'
import { EXIT } from '../exit.ts'
import { wrongUsage } from '../failure.ts'
import { ADDRESS_OPTIONS, FILE_ARGUMENT, fileOf, STDIO_OPTION } from '../file-argument.ts'
import { Interruption } from '../io.ts'
import { addressOf, httpAt, namesAddress, stdioOf, type Address } from '../listen-address.ts'
import { programFailure } from '../program-failure.ts'
import { projectFolder } from '../project-files.ts'

export const run: Command = {
  name: 'run',
  group: 'Build a server',
  summary: 'run a server',
  details:
    'Runs a file that exports a server (`export default app`) or calls `listen()`. Without options, the program decides which transports open; ' +
    'for one that only exports a server without the option `transports`, it is HTTP on a terminal or if PORT is set, and stdio otherwise. ' +
    'PORT, HOST and HOSTS say where HTTP is served, and to whom, also if the program names another place. With options, the transports that they name open, with what else the program says of them.',
  arguments: [FILE_ARGUMENT],
  options: [
    STDIO_OPTION,
    { flags: '--http', summary: 'serve over HTTP' },
    ...ADDRESS_OPTIONS,
    { flags: '--workers <number>', summary: 'how many processes serve HTTP' },
  ],
  examples: [
    ['run server.ts', 'runs a server'],
    ['run server.ts --http --port 8080', 'serves it over HTTP, whatever the program says'],
    ['run server.ts --host 0.0.0.0 --hosts mcp.example.com', 'serves other machines under that name'],
  ],
  async run({ words: [word], flags, io, output }) {
    const file = fileOf(word, io, 'run')
    const address = addressOf(flags, io.env)
    const listen = chosenTransports(flags, address)
    const { launch } = await import('../launch.ts')
    const starting = launch(file, {
      listen,
      signal: io.signal,
      // The command names the port of a server that is only exported.
      exported: (own) => {
        const isHttp = io.stdin.isTTY === true || address.port !== undefined
        return own ?? (isHttp ? { http: true } : { stdio: true })
      },
    })
    const running = await starting.catch((error: unknown) => {
      // The processes of --workers get the same signal, so none of them says more than its exit code.
      if (error instanceof Interruption) return error.exit
      throw programFailure(error, projectFolder(file.path, io.env), io.cwd)
    })
    if (typeof running === 'number') return running
    if (running.url !== undefined) output.note(`listening at ${output.noteColors.cyan(running.url)}`)
    await running.closed
    return EXIT.ok
  },
}

/** Opens the transports that the options name, with what else the program says of them; those of the program if they name none. */
function chosenTransports(flags: Flags, address: Address): (own: ListenOptions) => ListenOptions {
  const workers = workersOf(flags)
  const isHttp = flags.is('http') || namesAddress(flags) || workers !== undefined
  const isStdio = flags.is('stdio')
  if (isStdio && workers !== undefined && workers > 1)
    throw wrongUsage(
      '--workers is for HTTP alone, and --stdio serves one client from one process',
      'Leave out --stdio or --workers.',
    )
  // The environment says where HTTP is served, if the program opens it.
  if (!isHttp && !isStdio) return (own) => (own.http ? { ...own, ...httpAt(own, address) } : own)
  return (own) => ({
    ...(isStdio && stdioOf(own)),
    ...(isHttp && { ...httpAt(own, address), workers: workers ?? (isStdio ? undefined : own.workers) }),
  })
}

function workersOf(flags: Flags): number | undefined {
  const text = flags.text('workers')
  if (text === undefined) return undefined
  const count = Number(text)
  if (Number.isInteger(count) && count > 0) return count
  throw wrongUsage(`${text} is not a valid number of workers`, 'Use a number from 1 on.')
}
