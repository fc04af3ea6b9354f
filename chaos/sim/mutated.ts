/** What is bundled with a mutant in it. */
export { runScenario } from './scenario.ts';
export { simulate } from './simulation.ts';
