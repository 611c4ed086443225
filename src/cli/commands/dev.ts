import cluster from 'node:cluster'
import { toMs } from '../../base/duration.ts'
import type { Command, Invocation } from '../command.ts'
import { RELAYED_VARIABLE } from '../dev/messages.ts'
import { wrongUsage } from '../failure.ts'
import { projectFolder } from '../project-files.ts'
import { ADDRESS_OPTIONS, FILE_ARGUMENT, fileOf, STDIO_OPTION } from '../file-argument.ts'
import { addressOf, namesAddress, type Address } from '../listen-address.ts'

export const dev: Command = {
  name: 'dev',
  group: 'Build a server',
  summary: 'run a server, reload it on save, and show its calls',
  details:
    'Serves over HTTP. When a file of the project is saved, the new program starts beside the old one: sessions go on, running calls finish on the old code, ' +
    'and clients hear of changed lists. The streams of subscriptions/listen stay open. ' +
    'If the new program does not start, the old one goes on. Types are checked in the background with the typescript of the project. ' +
    'With --stdio, for clients that start programs, it does the same over stdin and stdout.',
  arguments: [FILE_ARGUMENT],
  options: [
    STDIO_OPTION,
    ...ADDRESS_OPTIONS,
    { flags: '-w, --watch <path>', summary: 'another file or folder whose changes reload it', isMany: true },
    { flags: '--start-time <time>', summary: 'how long the program may take to listen (30s)' },
    { flags: '--no-types', summary: 'do not check types' },
  ],
  examples: [
    ['dev', 'runs the server of the project'],
    ['dev server.ts --port 8080', 'runs a file, at another port'],
    ['dev server.ts --stdio', 'what a client starts to have a server that reloads'],
  ],
  async run(invocation) {
    const { words, flags, io, output } = invocation
    const file = fileOf(words[0], io, 'dev')
    const isStdio = flags.is('stdio')
    const options = {
      file,
      root: projectFolder(file.path, io.env),
      ...checkedAddress(invocation),
      startMs: toMs(flags.text('start-time') ?? '30s', '--start-time'),
    }
    if (isStdio && io.env[RELAYED_VARIABLE] !== undefined)
      return (await import('../dev/worker.ts')).serveRelayed(options)
    if (cluster.isWorker) return (await import('../dev/worker.ts')).serveInWorker(options)
    const { DevLog } = await import('../dev/events.ts')
    const log = new DevLog(io, output, { isStdio, json: flags.choice('json'), root: options.root })
    const checksTypes = flags.choice('types') !== false
    const all = { ...options, io, log, checksTypes, watched: flags.list('watch') }
    if (isStdio) return (await import('../dev/relay.ts')).relayWithReloads(all)
    return (await import('../dev/parent.ts')).serveWithReloads(all)
  },
}

function checkedAddress({ flags, io }: Invocation): Address {
  if (flags.is('stdio') && namesAddress(flags))
    throw wrongUsage('--stdio has no port and no host', 'Leave out --stdio to serve over HTTP.')
  return addressOf(flags, io.env)
}
