import type { ListenOptions } from 'pierhead'
import type { Command, Flags } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { sourceFile } from '../source-file.ts'
import { projectServer } from '../target.ts'

export const run: Command = {
  name: 'run',
  group: 'Build a server',
  summary: 'run a server',
  details:
    'Runs a file that exports a server (`export default app`) or calls `listen()`. Without options, the program decides which transports open; ' +
    'for one that only exports a server, it is HTTP on a terminal and stdio otherwise.',
  arguments: [
    {
      name: 'file',
      summary: 'such as server.ts, or server.ts:name; the server of the project by default',
      isOptional: true,
    },
  ],
  options: [
    { flags: '--stdio', summary: 'serve over stdin and stdout' },
    { flags: '--http', summary: 'serve over HTTP' },
    { flags: '-p, --port <number>', summary: 'the port of HTTP (PORT, or 3000)' },
    { flags: '--host <address>', summary: 'the address of HTTP (127.0.0.1)' },
    { flags: '--workers <number>', summary: 'how many processes serve HTTP' },
  ],
  examples: [
    ['run server.ts', 'runs a server'],
    ['run server.ts --http --port 8080', 'serves it over HTTP, whatever the program says'],
  ],
  async run({ words: [word], flags, io, output }) {
    const own = projectServer(io.cwd)
    const named = word ?? own?.file
    if (named === undefined) throw wrongUsage('there is no file to run', 'Write pierhead run server.ts.')
    const file = sourceFile(named, io.cwd)
    const { launch } = await import('../launch.ts')
    const listen = listenOptions(flags, io.env)
    const running = await launch(file, {
      listen,
      otherwise:
        listen ?? (io.stdin.isTTY === true ? { http: { port: portOf(flags, io.env) } } : { stdio: true }),
    })
    if (running.url !== undefined) output.note(`listening at ${output.noteColors.cyan(running.url)}`)
    await running.closed
  },
}

/** The transports that the options name; undefined if they name none. */
function listenOptions(
  flags: Flags,
  env: Readonly<Record<string, string | undefined>>,
): ListenOptions | undefined {
  const [port, host, workers] = ['port', 'host', 'workers'].map((name) => flags.text(name))
  const wantsHttp = flags.is('http') || (port ?? host ?? workers) !== undefined
  if (!wantsHttp && !flags.is('stdio')) return undefined
  if (!wantsHttp) return { stdio: true }
  return {
    stdio: flags.is('stdio'),
    http: { port: portOf(flags, env), ...(host !== undefined && { host }) },
    ...(workers !== undefined && { workers: Number(workers) }),
  }
}

/** The port of HTTP: that of the command line, of the environment, or 3000. */
export function portOf(flags: Flags, env: Readonly<Record<string, string | undefined>>): number {
  const text = flags.text('port') ?? env['PORT'] ?? '3000'
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port
  throw wrongUsage(`${text} is not a valid port`, 'Use a number from 0 to 65535; 0 chooses a free one.')
}
