import { expect } from 'vitest'
import type { Outcome } from './line.ts'

/** A title, a colour, a direction and characters that nobody sees; C1 controls and a half of a character, too. */
export const EVIL =
  '\u3164\u{E0150}\uFE05\u034f\u2800\u001b]0;owned\u0007\u001b[31m\u202e\u200b\u009b2J\r\ud800'

/** What nobody but the command itself may print. */
const RAW =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202e\u3164\u2800]|\u034f|\ufe05|\udb40|[\ud800-\udbff](?![\udc00-\udfff])/

/** The status line is our own: it begins with a return and clears the line. */
function withoutStatus(text: string): string {
  return text.replaceAll('\r\u001b[2K', '')
}

/** Checks that nothing of a server was printed raw. */
export function expectSafe({ stdout, stderr }: Outcome): void {
  expect(stdout).not.toMatch(RAW)
  expect(withoutStatus(stderr)).not.toMatch(RAW)
}

/** Checks that stdout has one document, or one in each line. */
export function expectJson({ stdout }: Outcome, isStream: boolean): void {
  const texts = isStream
    ? stdout.split('\n').filter((text) => text !== '')
    : [stdout].filter((text) => text !== '')
  for (const text of texts) expect(() => JSON.parse(text)).not.toThrow()
}
