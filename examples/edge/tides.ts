/** The height of the tide at an hour, in metres. */
export function heightAt(hour: number): Promise<number> {
  return Promise.resolve(2 + Math.round(10 * Math.cos((hour / 12.4) * 2 * Math.PI)) / 10)
}
