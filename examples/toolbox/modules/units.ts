import type { ToolMap } from 'pierhead'
import { z } from 'zod'
import { NUMBER, pure, tidy } from '../pure.ts'

/** Quantities, and how much of the first unit each unit is. */
const FACTORS = {
  length: {
    m: 1,
    km: 1000,
    cm: 0.01,
    mm: 0.001,
    inch: 0.0254,
    foot: 0.3048,
    yard: 0.9144,
    mile: 1609.344,
    nautical_mile: 1852,
    fathom: 1.8288,
  },
  mass: { kg: 1, g: 0.001, mg: 1e-6, tonne: 1000, pound: 0.45359237, ounce: 0.028349523125 },
  volume: {
    litre: 1,
    ml: 0.001,
    m3: 1000,
    us_gallon: 3.785411784,
    imperial_gallon: 4.54609,
    us_cup: 0.2365882365,
  },
  speed: { m_s: 1, km_h: 1 / 3.6, mph: 0.44704, knot: 1852 / 3600 },
  area: { m2: 1, km2: 1e6, hectare: 10_000, acre: 4046.8564224, foot2: 0.09290304 },
  pressure: { pa: 1, hpa: 100, kpa: 1000, bar: 100_000, atm: 101_325, psi: 6894.757293168 },
  data: {
    byte: 1,
    kb: 1e3,
    mb: 1e6,
    gb: 1e9,
    tb: 1e12,
    kib: 1024,
    mib: 1024 ** 2,
    gib: 1024 ** 3,
    tib: 1024 ** 4,
  },
} as const

/** Temperatures, from and to kelvin. */
const SCALES = {
  celsius: [(t: number) => t + 273.15, (k: number) => k - 273.15],
  fahrenheit: [(t: number) => ((t + 459.67) * 5) / 9, (k: number) => (k * 9) / 5 - 459.67],
  kelvin: [(t: number) => t, (k: number) => k],
} as const

function converter(quantity: string, factors: Readonly<Record<string, number>>): ToolMap[string] {
  const unit = z.enum(Object.keys(factors))
  return pure(
    `Converts a ${quantity} between units: ${Object.keys(factors).join(', ')}.`,
    { value: NUMBER, from: unit, to: unit },
    { value: z.number() },
    ({ value, from, to }) => ({ value: tidy((value * (factors[from] ?? 1)) / (factors[to] ?? 1)) }),
  )
}

const SCALE = z.enum(['celsius', 'fahrenheit', 'kelvin'])

export const units: ToolMap = {
  ...Object.fromEntries(
    Object.entries(FACTORS).map(([quantity, factors]) => [`unit_${quantity}`, converter(quantity, factors)]),
  ),
  unit_temperature: pure(
    'Converts a temperature between Celsius, Fahrenheit and kelvin.',
    { value: NUMBER, from: SCALE, to: SCALE },
    { value: z.number() },
    // Sums lose digits that products keep.
    ({ value, from, to }) => ({ value: Number(SCALES[to][1](SCALES[from][0](value)).toFixed(6)) }),
  ),
}
