/** Addresses that a public server must not lead a client to, as hosts of URLs. */
export const HOSTS: readonly string[] = [
  '127.0.0.1',
  '127.255.0.1',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '192.0.0.8',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[fc00::1]',
  '[fd12::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[2002:7f00:1::]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::1]',
]

/** Other spellings of hosts that lead to this computer. */
export const SPELLINGS: readonly string[] = [
  '2130706433',
  '0177.0.0.1',
  '017700000001',
  '0x7f.1',
  '0x7f000001',
  '127.1',
  '127.0.0.1.',
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  'localhost',
  'localhost.',
  'LOCALHOST',
  'api.localhost',
  '[0:0:0:0:0:ffff:7f00:1]',
]

/** The same addresses as a resolver gives them, and some that only a resolver can give. */
export const ANSWERS: readonly string[] = [
  ...HOSTS.map((host) => host.replace(/^\[(.*)\]$/, '$1')),
  'fe80::1%eth0',
  '::1%lo',
  'fc00::1%1',
  'not an address',
]
