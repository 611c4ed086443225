import type { Command } from '../command.ts'
import { safe, safeLine } from '../safe-text.ts'
import { tableText } from '../table-text.ts'

export const info: Command = {
  name: 'info',
  group: 'Use a server',
  summary: 'show what a server says about itself',
  hasTarget: true,
  examples: [['info http://localhost:3000/mcp', 'shows the name, revision and capabilities of a server']],
  async run({ output, open }) {
    const { client, target } = await open()
    const { revision, info: about = {}, capabilities, instructions } = await client.server()
    await output.data({ target: target.label, revision, server: about, capabilities, instructions }, () => {
      const rows = [
        ['server', [about['title'] ?? about['name'] ?? 'unnamed', about['version']].map(word).join(' ')],
        ['target', safeLine(target.label, 500)],
        ['revision', revision],
        [
          'offers',
          Object.keys(capabilities)
            .map((name) => safeLine(name))
            .join(', ') || 'nothing',
        ],
      ]
      return tableText(rows) + (instructions === undefined ? '' : `\n\n${safe(instructions)}`)
    })
  },
}

/** A word that a server said, in one line. */
function word(value: unknown): string {
  return typeof value === 'string' ? safeLine(value) : ''
}
