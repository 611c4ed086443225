import { expect, test } from 'vitest'
import { toHttpUrl } from './http-url.ts'

test.each([
  ['ws://a.example:81/ws', 'http://a.example:81/ws'],
  ['wss://ann:secret@a.example/ws?x=1#y', 'https://a.example/ws?x=1'],
  ['https://a.example/mcp', 'https://a.example/mcp'],
  ['http://a.example/wss:', 'http://a.example/wss:'],
  ['wss://a.example:443/', 'https://a.example/'],
])('requests to %s begin with %s', (url, found) => {
  expect(toHttpUrl(url).href).toBe(found)
  expect(toHttpUrl(new URL(url)).href).toBe(found)
})
