import type { Client } from 'pierhead/client'
import { LOG_LEVELS } from '../../protocol/log-levels.ts'
import type { Command } from '../command.ts'
import { KnownLists } from '../known-lists.ts'
import { logLine, logValue } from '../log-line.ts'
import { countOf } from '../option-values.ts'
import type { Output } from '../output.ts'
import { safeLine } from '../safe-text.ts'

export const watch: Command = {
  name: 'watch',
  group: 'Use a server',
  summary: 'print changes of lists and resources, and log messages',
  details:
    'Prints one line for each change until Ctrl-C, until --count changes came, or until the time of --total is over, which all end with 0. Without URIs it watches the lists. After a lost connection ' +
    'it says so, as a note and as { "kind": "reconnected" }, which does not count. Lists are compared then, so that only those that changed are ' +
    'printed; resources may have changed. Only the beginning of very long log messages is printed; while nobody reads what is printed, further ' +
    'ones are left out, and { "kind": "omitted" } says how many.',
  hasTarget: true,
  arguments: [
    { name: 'uri', summary: 'resources to watch; the lists by default', isOptional: true, isMany: true },
  ],
  options: [
    { flags: '-c, --count <number>', summary: 'end after so many changes' },
    {
      flags: '--log <level>',
      summary: 'also print log messages of this level and above',
      choices: LOG_LEVELS,
    },
  ],
  examples: [
    ['watch http://localhost:3000/mcp', 'prints when tools, resources or prompts change'],
    ['watch server.ts notes://42 --count 1', 'waits for one change of a resource'],
  ],
  async run({ words: uris, flags, io, output, open }) {
    let left = countOf(flags, 'count') ?? Number.POSITIVE_INFINITY
    const { client } = await open()
    const { capabilities } = await client.server()
    const level = flags.text('log')
    if (level !== undefined) {
      client.on('log', (message) =>
        output.passing(
          () => logValue(message),
          () => logLine(message),
        ),
      )
      await client.setLogLevel(level)
    }
    const watched =
      uris.length > 0
        ? { resources: uris }
        : {
            tools: capabilities['tools'] !== undefined,
            prompts: capabilities['prompts'] !== undefined,
            resources: capabilities['resources'] !== undefined,
          }
    const onReady = (): void => output.note('watching; Ctrl-C ends')
    const again = reconnects(client, watched, output)
    const lists = uris.length > 0 ? undefined : await KnownLists.read(client, watched)
    for await (const change of client.watch({ ...watched, onReady, signal: io.signal })) {
      const isKnown = change.kind === 'resource' ? again.explains(change) : await lists?.isSame(change.kind)
      if (isKnown === true) continue
      await output.event(change, () =>
        change.kind === 'resource'
          ? `${safeLine(change.uri, 500)} changed`
          : `the list of ${change.kind} changed`,
      )
      if (--left <= 0) return
    }
    // Ctrl-C and the end of the time of --total are the ways to end it.
  },
}

type Watched = Pick<Parameters<Client['watch']>[0], 'tools' | 'prompts' | 'resources'>
type Change = { readonly kind: string; readonly uri?: string }

/** Tells of new connections. The client then reports everything that is watched once, which is no change that the server reported. */
function reconnects(
  client: Client,
  { resources, ...lists }: Watched,
  output: Output,
): { explains(change: Change): boolean } {
  const expected = new Set<string>()
  let isLost = false
  client.on('state', (state) => {
    if (state === 'reconnecting' && !isLost) {
      isLost = true
      output.note('the connection is lost; connecting again …')
    }
    if (state !== 'ready' || !isLost) return
    isLost = false
    const uris = typeof resources === 'object' ? resources : []
    const kinds = Object.entries({ ...lists, resources }).filter(([, isWatched]) => isWatched === true)
    for (const key of [...uris, ...kinds.map(([kind]) => kind)]) expected.add(key)
    output.note(uris.length > 0 ? 'connected again; changes in between were not reported' : 'connected again')
    if (output.isJson) void output.event({ kind: 'reconnected' }, () => '')
  })
  return { explains: ({ kind, uri }) => expected.delete(uri ?? kind) }
}
