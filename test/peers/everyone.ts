import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Revision } from 'pierhead'
import { McpError } from '../../src/client.ts'
import { CHECKS } from './checks.ts'
import { KINDS } from './kinds.ts'
import { meet, start, type Kind, type Met, type Place, type Transport } from './peer.ts'

const REVISIONS: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']

/** Runs every check that applies, for every server and every revision that it speaks, over one transport. */
export function checkEveryone(transport: Transport, names: readonly string[]): void {
  describe.each(KINDS.filter(({ name }) => names.includes(name)).map((kind) => [kind.name, kind] as const))(
    `a server of %s over ${transport}`,
    (_, kind) => {
      let place: Place
      let close: () => Promise<void> = async () => undefined
      beforeAll(async () => {
        const script = new URL(`./servers/${kind.file}`, import.meta.url).pathname
        if (transport === 'stdio') place = { command: process.execPath, args: [script, 'stdio'] }
        else ({ place, close } = await listening(script, transport === 'HTTP' ? 'http' : 'sse'))
      })
      afterAll(() => close())

      test.each(REVISIONS.filter((revision) => !kind.revisions.includes(revision)))(
        'is left with a clear error when it does not speak %s, which was asked for [R034] [S4-5-7]',
        async (revision) => {
          const error = await meet(place, revision).catch((thrown: unknown) => thrown)
          expect(error).toBeInstanceOf(McpError)
          expect((error as McpError).hint).not.toBe('')
        },
      )

      describe.each([undefined, ...kind.revisions])('asked for revision %s', (asked) => {
        let met: Met
        beforeAll(async () => {
          met = await meet(place, asked)
        })
        afterAll(() => met[Symbol.asyncDispose]())

        test('is spoken with in the revision that was asked for, or the newest [R030] [R048]', () => {
          expect(met.revision).toBe(asked ?? kind.newest)
        })
        test.each(checksFor(kind, asked ?? kind.newest, transport))('%s', async (__, check) => {
          await check.run(met)
          expect(met.client.state).toBe('ready')
        })
      })
    },
  )
}

async function listening(
  script: string,
  how: 'http' | 'sse',
): Promise<{ place: Place; close: () => Promise<void> }> {
  const { lines, close } = await start([script, how])
  for await (const line of lines) {
    const [, url] = /^listening on (.*)$/.exec(line) ?? []
    if (url !== undefined) return { place: url, close }
  }
  throw new Error(`${script} did not say where it listens`)
}

function checksFor(
  kind: Kind,
  revision: Revision,
  transport: Transport,
): (readonly [string, (typeof CHECKS)[number]])[] {
  return CHECKS.filter(
    ({ needs, since = revision }) =>
      since <= revision && (needs === undefined || !kind.lacks(needs, revision, transport)),
  ).map((check) => [check.title, check] as const)
}
