import type { Command } from '../command.ts'
import { countOf } from '../option-values.ts'
import { safeLine } from '../safe-text.ts'

export const ping: Command = {
  name: 'ping',
  group: 'Use a server',
  summary: 'check that a server answers, and how fast',
  hasTarget: true,
  options: [{ flags: '-c, --count <number>', summary: 'how many times (1)' }],
  examples: [
    ['ping http://localhost:3000/mcp', 'asks a server over HTTP'],
    ['ping --count 5 -- node server.js', 'starts a program and asks it five times'],
  ],
  async run({ flags, output, open }) {
    const count = countOf(flags, 'count', 1000) ?? 1
    const began = performance.now()
    const { client, target } = await open()
    const connectMs = performance.now() - began
    const times: number[] = []
    for (let i = 0; i < count; i++) {
      const start = performance.now()
      await client.ping()
      times.push(performance.now() - start)
    }
    const shown = (ms: number): string => `${ms.toFixed(1)} ms`
    await output.data(
      { target: target.label, connectMs: rounded(connectMs), times: times.map(rounded) },
      () =>
        [
          `connected to ${safeLine(target.label, 500)} in ${shown(connectMs)}`,
          ...times.map((ms) => `answered in ${shown(ms)}`),
        ].join('\n'),
    )
  },
}

/** Whole microseconds, in milliseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
