#include "papers.h"
void papers_cost(papers *p) { (void)p; }
