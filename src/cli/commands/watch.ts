import type { Command } from '../command.ts'
import { countOf } from '../option-values.ts'
import { safeLine } from '../safe-text.ts'

export const watch: Command = {
  name: 'watch',
  group: 'Use a server',
  summary: 'print changes of lists and resources, and log messages',
  details:
    'Prints one line for each change until Ctrl-C, or until --count changes came. Without URIs it watches the lists.',
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
    let left = countOf(flags, 'count') ?? Number.POSITIVE_INFINITY
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
    for await (const change of client.watch({ ...watched, onReady, signal: io.signal })) {
      await output.event(change, () =>
        change.kind === 'resource'
          ? `${safeLine(change.uri, 500)} changed`
          : `the list of ${change.kind} changed`,
      )
      if (--left <= 0) break
    }
  },
}
