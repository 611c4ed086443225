import { ToolError } from 'pierhead'

const CITIES: ReadonlyMap<string, { readonly high: number; readonly low: number }> = new Map([
  ['Hamburg', { high: 12, low: 7 }],
  ['Lisbon', { high: 24, low: 16 }],
])

/** Looks up the forecast of a known city. */
export async function lookUp(city: string): Promise<{ readonly high: number; readonly low: number }> {
  const found = CITIES.get(city)
  if (found === undefined)
    throw new ToolError(`There is no forecast for ${city}`, { known: [...CITIES.keys()] })
  return found
}
