import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { browser, type BrowserOptions } from '../../src/auth-client.ts'

function warningsFor(url: string): readonly string[] {
  const warnings: string[] = []
  browser().open({ url: new URL(url), warn: (text) => void warnings.push(text) })
  return warnings
}

test('a server on another computer without encryption causes a warning', () => {
  expect(warningsFor('http://10.0.0.5/mcp')[0]).toContain('http://10.0.0.5/mcp')
  expect(warningsFor('ws://mcp.example/mcp')[0]).toContain('use wss')
  expect(warningsFor('https://mcp.example/mcp')).toEqual([])
  expect(warningsFor('http://127.0.0.1:3000/mcp')).toEqual([])
})

const WRONG: readonly (readonly [string, BrowserOptions, string])[] = [
  ['an unknown option', { clientID: 'a' } as BrowserOptions, 'did you mean "clientId"?'],
  ['a secret without an id', { clientSecret: 'a' }, 'clientSecret needs the clientId'],
  ['a secret for any issuer', { clientId: 'a', clientSecret: 'b' }, 'clientSecret needs the option issuer'],
  ['a redirect URI that nobody receives', { redirectUri: 'https://app.example/cb' }, 'needs the option open'],
  ['a redirect URI without a port', { redirectUri: 'http://127.0.0.1/cb' }, 'with a port'],
  ['a redirect URI with a fragment', { redirectUri: 'http://127.0.0.1:8/cb#a' }, 'without a fragment'],
  ['a document over http', { clientMetadataUrl: 'http://app.example/a.json' }, 'an https URL with a path'],
  ['a document without a path', { clientMetadataUrl: 'https://app.example/' }, 'an https URL with a path'],
  ['an issuer that is a URL object', { issuer: new URL('https://id.example') as never }, 'URL object'],
  ['an origin with a path', { allowOrigins: ['https://id.example/a'] }, 'an origin, such as'],
  [
    'an origin that any issuer may use',
    { allowOrigins: ['https://login.example'] },
    'allowOrigins needs the option issuer',
  ],
  ['scopes in one text', { scopes: 'a b' as never }, "scopes: ['a', 'b']"],
  ['a vault that is none', { vault: {} as never }, 'a vault, such as fileVault()'],
]

test.each(WRONG)('%s is an error that says what to write', (_, options, text) => {
  expect(() => browser(options)).toThrow(text)
})

test('a bundle for web pages contains nothing of Node', async () => {
  const { metafile } = await build({
    stdin: { contents: `export * from './src/auth-client.ts'`, resolveDir: process.cwd() },
    bundle: true,
    write: false,
    metafile: true,
    splitting: true,
    outdir: 'out',
    format: 'esm',
    platform: 'browser',
    conditions: ['pierhead-source'],
    logLevel: 'silent',
  })
  const inputs = Object.keys(metafile.inputs)
  expect(inputs).toContain('src/auth/client/browser.ts')
  expect(inputs.filter((name) => /client\/(loopback|opener|pinned\.ts|vault-files)/.test(name))).toEqual([])
})
