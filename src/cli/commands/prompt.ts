import type { Command } from '../command.ts'
import { contentText } from '../content-text.ts'
import { wrongUsage } from '../failure.ts'
import { checkPrompt } from '../prompt-arguments.ts'
import { safeLine, safeTexts } from '../safe-text.ts'
import { ANSWER_OPTION } from '../given-answers.ts'
import { saveBytes, withSaved } from '../saved-bytes.ts'

export const prompt: Command = {
  name: 'prompt',
  group: 'Use a server',
  summary: 'get a prompt, filled in',
  hasTarget: true,
  arguments: [
    { name: 'name', summary: 'the name of the prompt' },
    { name: 'argument', summary: 'such as language=TypeScript', isOptional: true, isMany: true },
  ],
  options: [
    ANSWER_OPTION,
    { flags: '--save <folder>', summary: 'save images, sounds and other bytes there' },
  ],
  examples: [['prompt server.ts review language=TypeScript', 'prints the messages of a prompt']],
  async run({ words: [name = '', ...words], flags, io, output, open }) {
    const args = pairsOf(words)
    const { client } = await open()
    await checkPrompt(client, name, args)
    const result = await client.prompt(name, args, { signal: io.signal })
    const saved = await saveBytes(
      result.messages.map(({ content }) => content),
      flags.text('save'),
      { io, output },
    )
    await output.data(withSaved(result, saved), () =>
      safeTexts(
        result.messages,
        ({ role, content }) => {
          const text = contentText([content], { io, output, saved })
          return `${output.colors.bold(`${safeLine(role, 20)}:`)} ${text}`
        },
        '\n\n',
      ),
    )
  },
}

/** Texts by name, from words such as `language=TypeScript`. */
export function pairsOf(words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=')
      if (at < 1) throw wrongUsage(`"${word}" is not an argument`, 'Write key=value.')
      return [word.slice(0, at), word.slice(at + 1)]
    }),
  )
}
