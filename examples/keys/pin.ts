import { createKeys, pinKey } from 'pierhead/auth'

const { publicKey } = createKeys('client-key.pem')
pinKey('allowed-keys.json', { key: publicKey, sub: 'anna', scopes: ['ledger:write'] })
