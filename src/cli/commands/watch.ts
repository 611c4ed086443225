import type { Command } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { KnownLists } from '../known-lists.ts'
import { safeLine } from '../safe-text.ts'

export const watch: Command = {
  name: 'watch',
  group: 'Use a server',
  summary: 'print changes of lists and resources, and log messages',
  details:
    'Prints one line for each change until Ctrl-C, or until --count changes came. Without URIs it watches the lists, ' +
    'and compares them: after a lost connection, which may have hidden changes, it prints only those that happened.',
  hasTarget: true,
  arguments: [
    { name: 'uri', summary: 'resources to watch; the lists by default', isOptional: true, isMany: true },
  ],
  options: [
    { flags: '-c, --count <number>', summary: 'end after so many changes' },
    { flags: '--log <level>', summary: 'also print log messages of this level and above' },
  ],
  examples: [
    ['watch http://localhost:3000/mcp', 'prints when tools, resources or prompts change'],
    ['watch server.ts notes://42 --count 1', 'waits for one change of a resource'],
  ],
  async run({ words: uris, flags, io, output, open }) {
    const most = countOf(flags.text('count'))
    const { client } = await open()
    const { capabilities } = await client.server()
    const level = flags.text('log')
    if (level !== undefined) {
      client.on('log', (entry) => {
        const text = typeof entry.data === 'string' ? entry.data : JSON.stringify(entry.data)
        void output.event(
          { kind: 'log', ...entry },
          () => `${safeLine(entry.level)} ${safeLine(text ?? '', 500)}`,
        )
      })
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
    let left = most
    const lists = uris.length > 0 ? undefined : await KnownLists.read(client, watched)
    for await (const change of client.watch({ ...watched, onReady, signal: io.signal })) {
      if (change.kind !== 'resource' && (await lists?.isSame(change.kind)) === true) {
        if (flags.is('verbose')) output.note(`the list of ${change.kind} was announced, and is the same`)
        continue
      }
      await output.event(change, () =>
        change.kind === 'resource'
          ? `${safeLine(change.uri, 500)} changed`
          : `the list of ${change.kind} changed`,
      )
      if (--left <= 0) break
    }
  },
}

function countOf(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY
  const count = Number(text)
  if (Number.isInteger(count) && count > 0) return count
  throw wrongUsage(`${text} is not a count`, 'Use a whole number from 1.')
}
