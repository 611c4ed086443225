import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { expect, test, vi } from 'vitest'
import type { createSafeFetch } from '../../src/auth/client/safe-fetch.ts'
import { HOSTS, SPELLINGS } from './net-addresses.ts'

/** The module as a bundler for browsers and workers builds it. */
const { outputFiles } = buildSync({
  entryPoints: [fileURLToPath(new URL('../../src/auth/client/safe-fetch.ts', import.meta.url))],
  bundle: true,
  write: false,
  platform: 'browser',
  conditions: ['pierhead-source'],
  format: 'esm',
  logLevel: 'error',
})
const code = outputFiles[0]!.text
const web = (await import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`)) as {
  readonly createSafeFetch: typeof createSafeFetch
}

test('the build for browsers needs nothing of Node', () => {
  expect(code).not.toMatch(/node:|require\(/)
})

test.each([...HOSTS, ...SPELLINGS, 'intranet', 'idp.corp.internal'])(
  'C.address-literal a public server cannot lead a browser to https://%s',
  async (host) => {
    const platform = vi.spyOn(globalThis, 'fetch')
    const safe = web.createSafeFetch({ server: new URL('https://mcp.example.com/mcp') })
    await expect(safe(`https://${host}/x`)).rejects.toThrow('only public addresses over https')
    expect(platform).not.toHaveBeenCalled()
    platform.mockRestore()
  },
)

test('a browser uses the fetch of the platform and follows no redirects', async () => {
  const platform = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('{}'))
  const safe = web.createSafeFetch({ server: new URL('https://mcp.example.com/mcp') })
  expect(await (await safe('https://issuer.example/x', { method: 'POST' })).text()).toBe('{}')
  expect(platform.mock.calls).toMatchObject([
    ['https://issuer.example/x', { method: 'POST', redirect: 'manual' }],
  ])
  platform.mockRestore()
})
