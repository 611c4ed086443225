import { nearest } from '../../base/nearest.ts'
import { suggestion } from '../arranged-line.ts'
import type { Command } from '../command.ts'
import { completionScript, SHELLS, type Shell } from '../completion.ts'
import { wrongUsage } from '../failure.ts'

export const completion: Command = {
  name: 'completion',
  group: 'Set up',
  summary: 'print a script that completes commands and options in a shell',
  details: 'Add what it prints to the start-up file of your shell.',
  arguments: [{ name: 'shell', summary: SHELLS.join(', ') }],
  examples: [
    ['completion bash >> ~/.bashrc', 'completes commands in bash from the next shell on'],
    ['completion fish > ~/.config/fish/completions/pierhead.fish', 'completes them in fish'],
  ],
  async run({ words: [shell = ''], output }) {
    if (!(SHELLS as readonly string[]).includes(shell))
      throw wrongUsage(
        `there is no completion for "${shell}"${suggestion(nearest(shell, SHELLS))}`,
        `The shells are ${SHELLS.join(', ')}.`,
      )
    const { COMMANDS } = await import('../commands.ts')
    await output.raw(completionScript(shell as Shell, COMMANDS))
  },
}
