import { createKeys, pinKey } from '../../src/auth.ts'

/* Pins a number of keys, one after the other. */
const [folder, name, count] = process.argv.slice(2) as [string, string, string]
for (let number = 0; number < Number(count); number++) {
  const { publicKey } = createKeys(`${folder}/${name}-${number}.pem`)
  pinKey(`${folder}/allowed.json`, { key: publicKey, sub: `${name}-${number}` })
}
