import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'

const GUIDE = 'docs/guides/command.md'

/**
 * Compares what a terminal showed with the block in the guide after `<!-- transcript: name -->`. Times may differ.
 * `UPDATE_TRANSCRIPTS=1` writes it there instead.
 */
export function checkTranscript(name: string, screen: string): void {
  // npm warns of settings on this machine. Sizes grow with every version, so the guide has none.
  const shown = screen.replaceAll(/^npm warn .*\n/gm, '').replaceAll(/\b\d+(?= kB\b)/g, '…')
  const guide = readFileSync(GUIDE, 'utf8')
  const mark = `<!-- transcript: ${name} -->\n\n\`\`\`\n`
  const begin = guide.indexOf(mark) + mark.length
  const end = guide.indexOf('```\n', begin)
  expect(guide).toContain(mark)
  if (process.env['UPDATE_TRANSCRIPTS'] === '1')
    writeFileSync(GUIDE, `${guide.slice(0, begin)}${shown.trimEnd()}\n${guide.slice(end)}`)
  else expect(steady(shown)).toBe(steady(guide.slice(begin, end)))
}

/** A text without what differs from run to run. */
function steady(text: string): string {
  return text
    .replaceAll(/\b\d+(?:\.\d+)? (?=ms\b)/g, '0 ')
    .replaceAll(/\b\d+(?:\.\d+)? s\b/g, '0 ms')
    .trimEnd()
}
