import type { Command } from '../command.ts'
import { contentsText } from '../content-text.ts'
import { ANSWER_OPTION } from '../given-answers.ts'
import { orNearName } from '../near-name.ts'
import { safeTexts } from '../safe-text.ts'
import { saveBytes, withSaved } from '../saved-bytes.ts'

export const read: Command = {
  name: 'read',
  group: 'Use a server',
  summary: 'read a resource',
  hasTarget: true,
  arguments: [{ name: 'uri', summary: 'the URI of the resource', isUri: true }],
  options: [ANSWER_OPTION, { flags: '--save <folder>', summary: 'save bytes there' }],
  examples: [['read server.ts notes://42', 'prints a resource of server.ts']],
  async run({ words: [uri = ''], flags, io, output, open }) {
    const { client } = await open()
    const result = await orNearName(client.read(uri, { signal: io.signal }), uri, async () =>
      (await client.resources().toArray()).map((one) => one.uri),
    )
    const saved = await saveBytes(result.contents, flags.text('save'), { io, output })
    await output.data(withSaved(result, saved), () =>
      safeTexts(result.contents, (contents) => contentsText(contents, { io, output, saved })),
    )
  },
}
