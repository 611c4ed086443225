import type { Invocation } from './command.ts'
import { wrongUsage } from './failure.ts'
import { envOf } from './open.ts'
import { programLabel } from './target.ts'
import type { Asked, Checked } from './validate-doors.ts'
import { checkClientOptions } from './validate-options.ts'
import { validateClient } from '../validate/client-run.ts'
import { programClient } from '../validate/client/program.ts'
import { TRANSPORTS, type Transport } from '../validate/rule.ts'

/** Options that are about servers only. */
const FOR_SERVERS = ['server', 'server-url', 'config'] as const

/** Starts the client after `--` with servers of the validator, and checks what it does. */
export async function checkClientProgram(
  { words, rest, flags, io }: Invocation,
  { revisions, only, until, progress }: Asked,
): Promise<Checked> {
  const [command, ...args] = rest
  const other = words[0] ?? FOR_SERVERS.map((name) => flags.text(name)).find((one) => one !== undefined)
  if (other !== undefined)
    throw wrongUsage(
      `--client checks a client, and "${other}" is a server`,
      'Write the client after --, and leave out the server: the validator starts its own.',
    )
  if (flags.is('allow-calls'))
    throw wrongUsage('--allow-calls is for servers', 'Leave it out: the client decides what it calls.')
  checkClientOptions(flags)
  if (command === undefined)
    throw wrongUsage(
      '--client needs the client after --',
      'Write pierhead validate --client -- node client.js.',
    )
  const client = programClient({
    command,
    args,
    cwd: io.cwd,
    inherit: flags.text('inherit') as 'none' | 'safe' | 'all' | undefined,
    env: envOf(flags.list('env'), io.env),
  })
  let place = ''
  const run = await validateClient({
    client,
    transports: transportsOf(flags.list('transport'), args),
    revisions,
    only,
    until,
    signal: io.signal,
    onVisit: (revision, transport, scenario) => {
      place = `${revision} on ${transport}`
      progress.at(`${place}: scenario ${scenario}`)
    },
    onOutcome: (_outcome, done, all) => progress.at(`${place}: rule ${done} of ${all}`),
  })
  return { ...run, label: programLabel([command, ...args]) }
}

/** The transports that were asked for. A client that takes a command speaks stdio, and any other one HTTP. */
function transportsOf(names: readonly string[], args: readonly string[]): readonly Transport[] {
  const known = TRANSPORTS.filter((one) => names.includes(one))
  if (known.length > 0) return known
  return [args.includes('{command}') ? 'stdio' : 'http']
}
