#include "papers.h"
void papers_chains(papers *p) { (void)p; }
