/** Exits 1 with a message when this Node is none of those that `engines` in package.json names: 20.19 or later of 20, or 22.12 or later. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const supported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;

if (supported) {
  console.log(`node ${process.versions.node}`);
} else {
  console.error(`found Node ${process.versions.node}, expected 20.19 or later of 20, or 22.12 or later`);
  process.exitCode = 1;
}
