import { expect, test } from 'vitest'
import { chooseScopes, type ScopeChoice } from '../../src/auth/client/choose-scopes.ts'

const NONE: ScopeChoice = {
  challenged: undefined,
  supported: undefined,
  requested: undefined,
  granted: undefined,
  issuerScopes: undefined,
  asksOffline: false,
}

test.each<readonly [string, Partial<ScopeChoice>, readonly string[] | undefined]>([
  ['nothing is known', {}, undefined],
  ['the challenge names some', { challenged: ['a'], supported: ['b', 'c'] }, ['a']],
  ['only the metadata names some', { supported: ['b', 'c'] }, ['b', 'c']],
  ['the challenge is empty', { challenged: [], supported: ['b'] }, ['b']],
  ['all are empty', { challenged: [], supported: [], requested: [], granted: [] }, undefined],
  ['the issuer alone names some', { issuerScopes: ['x', 'y'] }, undefined],
])('the scopes of the challenge come first, then those of the metadata: %s [R282]', (_, choice, scopes) => {
  expect(chooseScopes({ ...NONE, ...choice })).toEqual(scopes)
})

test.each<readonly [string, Partial<ScopeChoice>, readonly string[]]>([
  ['in place of those in the metadata', { requested: ['r'], supported: ['b'] }, ['r']],
  ['with those of the challenge', { requested: ['r'], challenged: ['a', 'r'] }, ['r', 'a']],
])('the scopes of the option are asked for %s', (_, choice, scopes) => {
  expect(chooseScopes({ ...NONE, ...choice })).toEqual(scopes)
})

test.each<readonly [Partial<ScopeChoice>, readonly string[]]>([
  [{ granted: ['a', 'b'], challenged: ['c'] }, ['a', 'b', 'c']],
  [{ granted: ['a', 'b'], challenged: ['b', 'c'], requested: ['r'] }, ['a', 'b', 'r', 'c']],
  [{ granted: ['a'], supported: ['s'] }, ['a', 's']],
  [{ granted: ['a'] }, ['a']],
])('scopes that were granted before are asked for again: %j', (choice, scopes) => {
  expect(chooseScopes({ ...NONE, ...choice })).toEqual(scopes)
})

test.each<readonly [Partial<ScopeChoice>, readonly string[] | undefined]>([
  [{ asksOffline: true, issuerScopes: ['a', 'offline_access'], challenged: ['a'] }, ['a', 'offline_access']],
  [{ asksOffline: true, issuerScopes: ['offline_access'], supported: ['a'] }, ['a', 'offline_access']],
  [
    { asksOffline: true, issuerScopes: ['offline_access'], challenged: ['offline_access'] },
    ['offline_access'],
  ],
  // Alone it would replace what the issuer grants by itself.
  [{ asksOffline: true, issuerScopes: ['offline_access'] }, undefined],
  [{ asksOffline: true, issuerScopes: ['a'], challenged: ['a'] }, ['a']],
  [{ asksOffline: true, challenged: ['a'] }, ['a']],
  [{ asksOffline: false, issuerScopes: ['offline_access'], challenged: ['a'] }, ['a']],
  // Servers should not name it, and the issuer would reject it.
  [{ asksOffline: true, issuerScopes: ['a'], challenged: ['a', 'offline_access'] }, ['a']],
  [{ asksOffline: true, supported: ['a', 'offline_access'] }, ['a']],
  [{ asksOffline: true, supported: ['offline_access'] }, undefined],
  [{ asksOffline: true, issuerScopes: ['a'], granted: ['a', 'offline_access'] }, ['a']],
  [
    { asksOffline: false, issuerScopes: ['offline_access'], requested: ['a', 'offline_access'] },
    ['a', 'offline_access'],
  ],
  // A grant without refresh tokens has no use for it.
  [{ asksOffline: false, issuerScopes: ['offline_access'], supported: ['a', 'offline_access'] }, ['a']],
])('offline_access is asked for only if the issuer lists it: %j [R287]', (choice, scopes) => {
  expect(chooseScopes({ ...NONE, ...choice })).toEqual(scopes)
})

test.each<readonly [Partial<ScopeChoice>]>([
  [{ asksOffline: true }],
  [{ asksOffline: true, issuerScopes: ['a'] }],
  [{ asksOffline: false }],
])('offline_access of the option is always asked for: %j', (choice) => {
  expect(chooseScopes({ ...NONE, ...choice, requested: ['a', 'offline_access'] })).toEqual([
    'a',
    'offline_access',
  ])
})

test('what is not a scope is not asked for, and the number is limited', () => {
  const challenged = ['a', 'b c', '', 'd"', 'é', '\u001b', 'e\\f', 'ok:1/x']
  expect(chooseScopes({ ...NONE, challenged })).toEqual(['a', 'ok:1/x'])
  const many = Array.from({ length: 10_000 }, (_, at) => `scope-${at}`)
  expect(chooseScopes({ ...NONE, challenged: many })?.length).toBe(200)
})
