import type { Command } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { orNearName } from '../near-name.ts'
import { safeLine } from '../safe-text.ts'
import { pairsOf } from './prompt.ts'

export const complete: Command = {
  name: 'complete',
  group: 'Use a server',
  summary: 'suggest values for an argument of a prompt or template',
  hasTarget: true,
  arguments: [
    { name: 'owner', summary: 'the name of a prompt, or a template such as city://{name}' },
    { name: 'argument', summary: 'name=beginning' },
    { name: 'known', summary: 'name=value of arguments that are filled in', isOptional: true, isMany: true },
  ],
  examples: [['complete server.ts review language=Ty', 'suggests languages that begin with Ty']],
  async run({ words: [owner = '', argument = '', ...known], io, output, open }) {
    const [pair] = Object.entries(pairsOf([argument]))
    if (pair === undefined) throw wrongUsage('the argument is missing', 'Write name=beginning.')
    const others = pairsOf(known)
    const { client } = await open()
    const asked = client.complete(owner, { name: pair[0], value: pair[1] }, others, { signal: io.signal })
    const result = await orNearName(asked, owner, async () =>
      owner.includes('://')
        ? (await client.templates().toArray()).map((one) => one.uriTemplate)
        : (await client.prompts().toArray()).map((one) => one.name),
    )
    await output.data(result, () =>
      result.values.length === 0
        ? 'There are no suggestions.'
        : result.values.map((value) => safeLine(value)).join('\n'),
    )
  },
}
