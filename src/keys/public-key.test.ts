import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { publicTextOf, readPublicKey } from './public-key.ts'

const P = 2n ** 255n - 19n
const D = (-121_665n * inverse(121_666n)) % P

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let b = ((base % P) + P) % P, e = exponent; e > 0n; e >>= 1n, b = (b * b) % P)
    if (e & 1n) result = (result * b) % P
  return result
}

function inverse(value: bigint): bigint {
  return power(value, P - 2n)
}

function keyOf(y: bigint, sign: bigint): string {
  const hex = (y | (sign << 255n)).toString(16).padStart(64, '0')
  return `ed25519:${Buffer.from(hex, 'hex').reverse().toString('base64url')}`
}

/** A square root of a number; undefined if it has none. */
function root(value: bigint): bigint | undefined {
  const one = power(value, (P + 3n) / 8n)
  return [one, (one * power(2n, (P - 1n) / 4n)) % P].find((each) => (each * each - value) % P === 0n)
}

/**
 * The y coordinates of all points whose order divides 8, also as they may be written beyond the prime. On the curve -x² + y² = 1 + d·x²·y², a point
 * of order 8 has the double y = 0, so x² = -y² and d·y⁴ + 2·y² = 1.
 */
function smallOrders(): readonly bigint[] {
  const inner = root((1n + D + P) % P) ?? 0n
  const squares = [inner, -inner].map((one) => ((((one - 1n) * inverse(D)) % P) + P) % P)
  const eighths = squares.flatMap((square) => root(square) ?? []).flatMap((y) => [y, P - y])
  return [0n, 1n, P - 1n, P, P + 1n, ...eighths]
}

test('keys of small order, which anybody can sign for, are refused', () => {
  const all = smallOrders()
  expect(all).toHaveLength(7)
  for (const y of all) for (const sign of [0n, 1n]) expect(readPublicKey(keyOf(y, sign))).toBeUndefined()
  // What they would allow: a signature of any bytes without a private key.
  const x = keyOf(1n, 0n).slice('ed25519:'.length)
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } })
  const forged = Buffer.concat([Buffer.from(x, 'base64url'), Buffer.alloc(32)])
  expect(verify(null, Buffer.from('anything'), key, forged)).toBe(true)
})

test('ordinary keys are read', () => {
  for (let i = 0; i < 20; i++)
    expect(readPublicKey(publicTextOf(generateKeyPairSync('ed25519').privateKey))).toBeDefined()
})
